FROM httpbench.test/perl:5

RUN apt-get update \
 && apt-get install --yes --no-install-recommends libdbd-mysql-perl libdbd-pg-perl \
 && rm -rf /var/lib/apt/lists/*
COPY server.pl /server.pl
ARG TFB_TEST_DATABASE
ENV DATABASE=${TFB_TEST_DATABASE}

EXPOSE 8080

CMD perl /server.pl 8080
