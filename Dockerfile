# Image that flies a mission: docs/installation.md shows how to build and use it. The project's tests have no Docker and do
# not build the image; continuous integration runs make dist, and installs its wheels by pip, without Docker.

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
