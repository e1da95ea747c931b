import type { Terminal } from '../terminal.ts'

const TIMEOUT_MS = 3000

/**
 * Prints a link to a page of the site. If it leads to this machine and no site opens it there, says so: the site may have been
 * started with other variables than the command. Opening the page of a link does not use it up.
 */
export async function printLink({ print, errors, env }: Terminal, link: string): Promise<void> {
  print(link)
  const { hostname, origin } = new URL(link)
  if (hostname !== 'localhost') return
  const isOpened = await fetch(link, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    (answer) => answer.ok,
    () => false,
  )
  if (isOpened) return
  errors.write(
    `No site opens this link at ${origin} now. It goes by PORT, which is ${env().PORT} for this command. Start the site, or type before the command what the site was started with, such as PORT=8080.\n`,
  )
}
