/** Without slashes at the end. A pattern would look at a run of slashes once for each of them: a long path is a second's work. */
export function plainPath(path: string): string {
  let end = path.length
  while (path.charAt(end - 1) === '/') end--
  return path.slice(0, end) || '/'
}
