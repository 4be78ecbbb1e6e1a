# reseller-sim in a container: docs/container.md says how it is run. All state is in /data, all of its own in /opt.
FROM python:3.13-slim AS build
WORKDIR /src
# Only what the package is made of, so that a change of docs or tests builds nothing anew.
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY simulator simulator
COPY reseller_sim reseller_sim
COPY contracts contracts
COPY scenarios scenarios
RUN python -m venv /opt/reseller-sim \
    && /opt/reseller-sim/bin/python -m pip install --no-cache-dir --quiet -c constraints.txt . \
    && /opt/reseller-sim/bin/python -m pip uninstall --quiet --yes pip

FROM python:3.13-slim
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
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --start-interval=1s \
    CMD ["sh", "-c", "exec reseller-sim health --url http${RESELLER_SIM_TLS_CERT:+s}://127.0.0.1:$RESELLER_SIM_PORT"]
ENTRYPOINT ["reseller-sim"]
CMD ["serve"]
