FROM httpbench.test/perl:5

ARG TFB_TEST_NAME
COPY server.pl /server.pl
ENV SERVER_NAME=${TFB_TEST_NAME}

EXPOSE 8091

CMD perl /server.pl 8091
