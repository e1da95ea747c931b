const NEEDED = [24, 2] as const

/** Exits on a Node that is too old. Imports nothing, so that any version can run it. */
export function requireNode(version = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return
  console.error(`This is Node ${version}. The server needs Node ${NEEDED.join('.')} or newer; npm start uses its own.`)
  process.exit(1)
}
