FROM httpbench.test/perl:5
EXPOSE 9091/tcp
