FROM httpbench.test/perl:5

EXPOSE 8080

CMD perl -e 0
