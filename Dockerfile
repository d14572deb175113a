# SPDX-License-Identifier: Apache-2.0
# The command `refrain` in a small image: docker build -t refrain . && docker run --rm refrain get https://example.com/
# The commit that `refrain --version` says: docker build --build-arg REFRAIN_COMMIT=$(git rev-parse --short=12 HEAD) …
FROM swift:6.3-bookworm AS build
ARG REFRAIN_COMMIT=
WORKDIR /src
COPY . .
RUN apt-get update && apt-get install --yes --no-install-recommends make && make release

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/dist/refrain-linux-* /usr/local/bin/refrain
USER nobody
ENTRYPOINT ["refrain"]
