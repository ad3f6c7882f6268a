FROM httpbench.test/perl:5
COPY --from=gcc:14 /server /server
EXPOSE 9091/tcp
