// Reads `.env` into the environment, if there is one; what is set already stays. npm's scripts load this file first.
const { env } = process
const { DATA_DIR } = env
try {
  process.loadEnvFile()
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
// `migrate` and `restore` ask for a database by name when DATABASE_URL is empty; a DATA_DIR of the file does not count.
if (!DATA_DIR && env.DATA_DIR) env.DATA_DIR_FROM_FILE = 'true'
