/** The oldest Node that runs the site: `randomUUIDv7` is the newest that it uses. For `npm ci` Node 20 is enough. */
export const NEEDED_NODE = '24.16.0'

/** Exits on a Node that is too old. Any Node can run this file: it imports nothing and has no types. */
export function requireNode(version = process.versions.node) {
  if (!isOlder(version, NEEDED_NODE)) return
  console.error(
    `This is Node ${version}. The site needs Node ${NEEDED_NODE} or newer: \`npm run setup\` links the one that npm ci installs on Linux; elsewhere install it.`,
  )
  process.exit(1)
}

/**
 * @param {string} version
 * @param {string} than
 */
export function isOlder(version, than) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number)
  return major < thanMajor || (major === thanMajor && minor < thanMinor)
}
