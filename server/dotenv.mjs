// Reads `.env` into the environment, if there is one; what is set already stays. npm's scripts load this file first.
try {
  process.loadEnvFile()
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
