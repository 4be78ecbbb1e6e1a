# reseller-sim in a container: docs/container.md says how it is run. All state is in /data, all of its own in /opt.
# The base image is fixed by its digest; docs/container.md says how to renew it.
ARG PYTHON=python:3.13-slim@sha256:8d9d0b8bcf6506481eae4907c18f5e3e7902e629f5f6d684f9e7c32e85e3ddf0
FROM ${PYTHON} AS build
WORKDIR /src
# Each file that pip installs has a hash here; `make requirements` renews them.
COPY release/requirements.txt release/build-requirements.txt release/
RUN python -m venv /opt/reseller-sim \
    && /opt/reseller-sim/bin/python -m pip install --no-cache-dir --quiet --require-hashes -r release/requirements.txt \
    && python -m venv /opt/build \
    && /opt/build/bin/python -m pip install --no-cache-dir --quiet --require-hashes -r release/build-requirements.txt
# Only what the package is made of, so that a change of docs or tests builds nothing anew.
COPY pyproject.toml README.md LICENSE ./
COPY simulator simulator
COPY reseller_sim reseller_sim
COPY contracts contracts
COPY scenarios scenarios
COPY release/version.py release/build_hook.py release/
# The history is not copied, so the version is an argument: --build-arg VERSION="$(python3 release/version.py)"
ARG VERSION=0.1.0.dev0
RUN RESELLER_SIM_BUILD_VERSION="$VERSION" /opt/build/bin/python -m pip wheel --no-cache-dir --quiet --no-deps --no-build-isolation --wheel-dir /dist . \
    && /opt/reseller-sim/bin/python -m pip install --no-cache-dir --quiet --no-deps --no-index /dist/*.whl \
    && /opt/reseller-sim/bin/python -m pip uninstall --quiet --yes pip

FROM ${PYTHON}
COPY --from=build /opt/reseller-sim /opt/reseller-sim
# Group 0 is that of whoever has no other, such as the users that OpenShift makes up.
RUN mkdir /scenarios /data && chown 10001:0 /data && chmod 770 /data
ENV PATH=/opt/reseller-sim/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    RESELLER_SIM_HOST=0.0.0.0 \
    RESELLER_SIM_PORT=8080 \
    RESELLER_SIM_ALLOW_HOST=reseller-sim \
    RESELLER_SIM_SCENARIOS=/scenarios
WORKDIR /scenarios
VOLUME ["/scenarios", "/data"]
EXPOSE 8080
USER 10001:10001
STOPSIGNAL SIGTERM
# Without --start-interval, which podman and buildah refuse. It counts in images of Docker's format alone.
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s \
    CMD ["sh", "-c", "exec reseller-sim health --url http${RESELLER_SIM_TLS_CERT:+s}://127.0.0.1:$RESELLER_SIM_PORT"]
ENTRYPOINT ["reseller-sim"]
CMD ["serve"]
# At the end, so that another version changes no layer of its own.
ARG VERSION=0.1.0.dev0
LABEL org.opencontainers.image.title="reseller-sim" \
      org.opencontainers.image.description="A stateful simulator of a reseller payments API" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="MIT"
