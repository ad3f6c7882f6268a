FROM httpbench.test/perl:5

CMD perl -e 0
