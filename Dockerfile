# docker build -t kcheck . && docker run --rm -v "$PWD:/work:ro" kcheck check .
FROM python:3.13.9-slim-trixie AS build
# The compiler makes kcheck almost twice as fast. It is not part of the image.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY kcheck kcheck
COPY rules rules
COPY schemas schemas
RUN python -m venv /opt/kcheck && /opt/kcheck/bin/pip install --no-cache-dir --disable-pip-version-check .

FROM python:3.13.9-slim-trixie
COPY --from=build /opt/kcheck /opt/kcheck
ENV PATH=/opt/kcheck/bin:$PATH XDG_CACHE_HOME=/tmp
# The user of the image owns no file in it.
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["kcheck"]
CMD ["--help"]
