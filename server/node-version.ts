/** The oldest Node that has everything the code uses: `randomUUIDv7` is the newest of it. */
export const NEEDED_NODE = '24.16.0'

/** Exits on a Node that is too old. Imports nothing, so that any version can run it. */
export function requireNode(version = process.versions.node): void {
  if (!isOlder(version, NEEDED_NODE)) return
  console.error(
    `This is Node ${version}. The site needs Node ${NEEDED_NODE} or newer: \`npm run setup\` links the one that npm ci installs on Linux; elsewhere install it.`,
  )
  process.exit(1)
}

export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number)
  return major < thanMajor || (major === thanMajor && minor < thanMinor)
}
