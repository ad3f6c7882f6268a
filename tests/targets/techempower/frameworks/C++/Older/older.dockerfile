FROM httpbench.test/perl:5
EXPOSE 9090
