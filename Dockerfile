# The site in one image: the bundled server, the built pages, the migrations, and the embedded database for when there
# is no DATABASE_URL. Nothing is downloaded when it starts.
ARG NODE_IMAGE=node:24-bookworm-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json prisma.config.ts ./
COPY prisma prisma
COPY server/dotenv.mjs server/
RUN npm ci
COPY . .
RUN npm run build
# Of the embedded database: without its source maps, types, CommonJS twin and the extensions that we do not load.
RUN cd node_modules/@electric-sql/pglite && find . -type f \
    \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.cjs' -o -name '*.tar.gz' -o -name '*.md' \) -delete

# Prisma Studio for staff, beside the site and on its database: docker build --target studio.
FROM build AS studio-files
RUN npm prune --omit=dev --ignore-scripts
FROM ${NODE_IMAGE} AS studio
WORKDIR /app
COPY --from=studio-files /app ./
ENV STUDIO_IN_CONTAINER=true DATA_DIR=/data HOME=/tmp PATH=/app/node_modules/.bin:$PATH
RUN mkdir /data && chown node:node /data
USER node
EXPOSE 5555
CMD ["node", "server/studio.ts"]

# The site. It stays the last stage, which is built unless another one is named.
FROM ${NODE_IMAGE}
# Staff commands run in this container and share its memory: theirs stays small. The site's own flags are below.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NODE_OPTIONS=--max-semi-space-size=1
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=build /app/package.json ./
COPY --from=build /app/prisma/migrations prisma/migrations
COPY --from=build /app/node_modules/@electric-sql/pglite node_modules/@electric-sql/pglite
COPY --from=build /app/dist dist
USER node
VOLUME /data
EXPOSE 3000
# Whether the process lives, not whether its database does: a restart would not bring that back.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Room for young objects is bounded: else Node lets it grow by 100 MB under load and keeps it. Half of it is there from
# the start, so that memory is level after the first thousands of orders.
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=32", "dist/server/main.js"]
