ARG VERSION=14
FROM gcc:${VERSION} AS build

FROM httpbench.test/perl:5
COPY --from=build /server /server
EXPOSE 9090
