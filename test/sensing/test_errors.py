"""The error model: Allan deviation, independence of the sample rate, and preserved state."""

import math

import numpy as np
import pytest

from rosflight_py_sim.sensing.errors import BIAS, ERROR, ErrorModel, ErrorSource, ErrorTerms, advance_errors

CHANNELS = 60


def recorded(terms, rate, duration, seed=1, column=ERROR):
    """Errors of CHANNELS independent channels, (samples, CHANNELS)."""
    model = ErrorModel([terms] * CHANNELS, np.random.default_rng(seed))
    samples = np.empty((round(duration * rate), CHANNELS))
    for sample in samples:
        advance_errors(model.channels, next(model.normals), 1.0 / rate)
        sample[:] = model.channels[:, column]
    return samples


def allan_variance(samples, size):
    """Allan variance of each channel for clusters of `size` samples, without overlap."""
    means = samples[: len(samples) // size * size].reshape(-1, size, CHANNELS).mean(axis=1)
    return 0.5 * np.mean(np.diff(means, axis=0) ** 2, axis=0)


def hold_allan_variance(samples, size, expected):
    """The mean over independent channels lies within 4.5 of its own standard errors: 1 in 100,000 by chance."""
    each = allan_variance(samples, size)
    standard_error = each.std(ddof=1) / math.sqrt(CHANNELS)
    assert standard_error < 0.1 * expected, "too little data to tell"
    assert abs(each.mean() - expected) < 4.5 * standard_error


@pytest.mark.parametrize("rate", [50.0, 200.0, 800.0])
@pytest.mark.parametrize("tau", [0.02, 0.2])
def test_white_noise_allan_deviation_is_independent_of_sample_rate(rate, tau):
    density = 0.01
    samples = recorded(ErrorTerms(noise_density=density), rate, 10.0)
    hold_allan_variance(samples, round(tau * rate), density**2 / tau)


@pytest.mark.parametrize("rate", [20.0, 100.0])
@pytest.mark.parametrize("tau", [0.5, 2.0])
def test_random_walk_allan_deviation_is_independent_of_sample_rate(rate, tau):
    density = 0.3
    samples = recorded(ErrorTerms(walk_density=density), rate, 40.0)
    size = round(tau * rate)
    # Rate random walk of IEEE Std 952-1997, annex C: K^2 tau / 3, with the exact factor of `size` samples a cluster.
    hold_allan_variance(samples, size, density**2 * tau / 3.0 * (1.0 + 0.5 / size**2))


@pytest.mark.parametrize("rate", [50.0, 200.0])
@pytest.mark.parametrize("tau", [0.4, 2.0, 5.0])
def test_gauss_markov_bias_allan_deviation_matches_its_time_constant(rate, tau):
    density, decay = 0.2, 0.5
    correlation_time = 1.0 / decay
    samples = recorded(ErrorTerms(walk_density=density, decay_rate=decay), rate, 100.0)
    ratio = correlation_time / tau
    # IEEE Std 952-1997, annex C (Markov noise).
    expected = (density * correlation_time) ** 2 / tau
    expected *= 1.0 - 0.5 * ratio * (3.0 - 4.0 * math.exp(-1.0 / ratio) + math.exp(-2.0 / ratio))
    hold_allan_variance(samples, round(tau * rate), expected)


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
def test_gauss_markov_bias_is_stationary_from_the_first_sample_at_any_rate(rate):
    terms = ErrorTerms(walk_density=2.0, decay_rate=0.5)
    runs = np.concatenate([recorded(terms, rate, 5.0, seed, BIAS)[[0, -1]] for seed in range(40)], axis=1)
    assert terms.walk_deviation == pytest.approx(2.0)
    # Deviation of 2,400 independent normals: relative standard error 1 / sqrt(2 * 2400) = 1.44 %; 4.5 of them.
    assert runs.std(axis=1) == pytest.approx([2.0, 2.0], rel=0.065)


def test_gauss_markov_bias_decorrelates_with_its_time_constant():
    terms = ErrorTerms(walk_density=1.0, decay_rate=0.5)
    runs = np.concatenate([recorded(terms, 10.0, 2.1, seed, BIAS)[[0, -1]] for seed in range(40)], axis=1)
    # Standard error of a correlation r of n = 2400 pairs: (1 - r^2) / sqrt(n) = 0.018; 4.5 of them.
    assert np.corrcoef(runs)[0, 1] == pytest.approx(math.exp(-0.5 * 2.0), abs=0.08)


def test_constant_bias_is_drawn_within_its_range_and_stays_constant():
    samples = recorded(ErrorTerms(bias_range=0.25), 10.0, 100.0)
    assert np.all(samples == samples[0])
    assert np.all(np.abs(samples) <= 0.25)
    # 60 uniform draws: deviation 0.25 / sqrt(3) = 0.144 with a relative standard error of about 6 %; 4.5 of them.
    assert samples[0].std() == pytest.approx(0.25 / math.sqrt(3.0), rel=0.27)


def test_white_noise_is_white_and_independent_between_channels():
    samples = recorded(ErrorTerms(noise_density=1.0), 100.0, 100.0)
    bound = 5.0 / math.sqrt(len(samples))
    assert abs(np.corrcoef(samples[1:, 0], samples[:-1, 0])[0, 1]) < bound
    assert abs(np.corrcoef(samples[:, 0], samples[:, 1])[0, 1]) < bound


def test_same_seed_yields_same_errors_and_other_seed_differs():
    terms = ErrorTerms(1.0, 1.0, 1.0, 0.1)
    first = recorded(terms, 100.0, 6.0, seed=7)
    assert np.array_equal(first, recorded(terms, 100.0, 6.0, seed=7))
    assert not np.any(first == recorded(terms, 100.0, 6.0, seed=8))


@pytest.mark.parametrize("dt", [0.0, -0.01, math.nan])
def test_non_advancing_time_is_rejected(dt):
    model = ErrorModel([ErrorTerms(1.0)], np.random.default_rng(0))
    with pytest.raises(ValueError, match="greater than 0"):
        advance_errors(model.channels, next(model.normals), dt)


def test_adopting_model_continues_from_the_previous_one():
    terms = [ErrorTerms(1.0, 1.0, 1.0, 0.1)]
    one = ErrorModel(terms, np.random.default_rng(3))
    two = ErrorModel(terms, np.random.default_rng(3))

    def errors(model, count):
        collected = []
        for _ in range(count):
            advance_errors(model.channels, next(model.normals), 0.01)
            collected.append(model.channels[0, ERROR])
        return collected

    whole = errors(one, 600)
    parts = errors(two, 100)
    heir = ErrorModel(terms, np.random.default_rng(99))
    heir.adopt(two)
    assert parts + errors(heir, 500) == whole


def test_new_parameters_rescale_adopted_bias_and_walk():
    small = ErrorModel([ErrorTerms(0.0, 0.5, 2.0, 0.1)], np.random.default_rng(3))
    large = ErrorModel([ErrorTerms(0.0, 1.0, 4.0, 0.1)], np.random.default_rng(4))
    large.adopt(small)
    assert large.channels[0, BIAS] == pytest.approx(2.0 * small.channels[0, BIAS], rel=1e-12)
    off = ErrorModel([ErrorTerms()], np.random.default_rng(5))
    off.adopt(small)
    assert off.channels[0, BIAS] == 0.0


SOURCE = ErrorSource("meter", "length", "m", 100.0, stdev=0.5, walk_stdev=0.02)


def test_rosflight_sample_deviation_holds_at_the_default_rate():
    terms = SOURCE.terms(SOURCE.parameters().checked({}))
    # Per-sample deviation N / sqrt(dt), and per-sample step K sqrt(dt), at dt = 1/100 s.
    assert terms.noise_density * math.sqrt(100.0) == pytest.approx(0.5)
    assert terms.walk_density / math.sqrt(100.0) == pytest.approx(0.02)


def test_density_takes_precedence_over_rosflight_parameter():
    values = SOURCE.parameters().checked({"meter_noise_density": 0.7, "meter_bias_walk_density": 0.8})
    terms = SOURCE.terms(values)
    assert (terms.noise_density, terms.walk_density) == (0.7, 0.8)


def test_zero_rosflight_deviation_disables_noise():
    terms = SOURCE.terms(SOURCE.parameters().checked({"meter_stdev": 0.0, "meter_bias_walk_stdev": 0.0}))
    assert terms == ErrorTerms()


def test_rosflight_driving_noise_yields_its_stationary_deviation():
    source = ErrorSource("meter", "length", "m", 100.0, walk_stdev=0.02, walk_drives=True, decay_rate=0.5)
    terms = source.terms(source.parameters().checked({}))
    # ROSflight: eta = exp(-k T) eta + T stdev w. Its discretisation differs from the exact one by k T / 2 = 0.25 %.
    period = 0.01
    discrete = period * 0.02 / math.sqrt(1.0 - math.exp(-2.0 * 0.5 * period))
    assert terms.walk_deviation == pytest.approx(discrete, rel=0.003)
