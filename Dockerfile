# Image that flies a mission: docs/installation.md shows how to build and use it. These instructions were not run by the
# project's tests, which have no Docker; the commands that they consist of were.

FROM python:3.12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ git make && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN make dist OTHERS=

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/source/dist,target=/dist \
    python -m venv /opt/simulator && /opt/simulator/bin/pip install --no-cache-dir /dist/*.whl
RUN useradd --create-home pilot
USER pilot
WORKDIR /home/pilot
ENV PATH=/opt/simulator/bin:$PATH
ENTRYPOINT ["rosflight_py_sim"]
CMD ["fly"]
