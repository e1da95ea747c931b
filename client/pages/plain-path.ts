/** Without the slash at the end. */
export function plainPath(path: string) {
  return path.replace(/\/+$/, '') || '/'
}
