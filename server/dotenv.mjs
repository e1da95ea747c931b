// Reads `.env` into the environment, if there is one; what is set already stays. npm's scripts load this file first.
const { env } = process
const { DATA_DIR } = env
try {
  process.loadEnvFile()
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
// With DATABASE_URL set but empty, `migrate` and `restore` need a DATA_DIR that was typed. One from `.env` does not count.
if (!DATA_DIR && env.DATA_DIR) env.DATA_DIR_FROM_FILE = 'true'
