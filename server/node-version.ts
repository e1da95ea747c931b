const NEEDED = [24, 2]

/** Ends a program that an older Node cannot run. Imports nothing, so that any Node gets this far. */
export function requireNode(version = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > (NEEDED[0] ?? 0) || (major === NEEDED[0] && minor >= (NEEDED[1] ?? 0))) return
  console.error(
    `This is Node ${version}, and the server needs Node ${NEEDED.join('.')} or newer: npm start brings its own.`,
  )
  process.exit(1)
}
