import { formatCount } from '../../shared/count.ts'
import { OperatorError } from '../errors.ts'
import { printLink } from '../operations/running-site.ts'
import { staffCommand } from '../staff-command.ts'
import type { AddCommand, Terminal } from '../terminal.ts'
import { endSessions, findStaff } from './sessions.ts'
import { createTerminalLink } from './sign-in.ts'

/** What they did is done at the desk. */
const FORMER = ['list', 'show', 'status', 'note']

/** @throws OperatorError that names the desk, for a command that is no more */
export function refuseFormer(command = ''): void {
  if (FORMER.includes(command))
    throw new OperatorError(`\`${command}\` is done at the desk now: ${staffCommand('sign-in')} prints a link to it.`)
}

export function signOutCommand(add: AddCommand, { env, print, recordAccess, onDatabase }: Terminal) {
  add('sign-out')
    .description('end the sessions of the desk at once, with their links and the browsers that are known')
    .argument('[address]', 'only those of this address; it need not be one of STAFF_EMAILS any more')
    .action(async (address?: string) => {
      await onDatabase(async (db) => {
        await recordAccess(db, address ? `the sessions of ${address}` : 'all sessions')
        const ended = await endSessions(db, address)
        print(`Ended ${formatCount(ended, 'session')}${address ? ` of ${address}` : ''}.`)
        if (address && ended === 0)
          print(
            'Nobody was signed in by this address: a restart without it in STAFF_EMAILS has ended its sessions, or it is spelt otherwise.',
          )
        if (address && findStaff(env().STAFF_EMAILS, address))
          print(`${address} is one of STAFF_EMAILS: whoever reads its mail can sign in again.`)
      })
    })
}

export function signInCommand(add: AddCommand, terminal: Terminal) {
  const { env, recordAccess, onDatabase } = terminal
  add('sign-in')
    .description('print a link to the desk, which works once within 15 minutes')
    .argument('[address]', 'the one of STAFF_EMAILS that history and access log name; without it the first')
    .action(async (address?: string) => {
      const { STAFF_EMAILS: staffEmails } = env()
      const email = findStaff(staffEmails, address ?? staffEmails[0] ?? '')
      if (!email) throw new OperatorError(`${address} is not one of STAFF_EMAILS, so it may not enter the desk.`)
      await onDatabase(async (db) => {
        await recordAccess(db, 'a link to the desk')
        await printLink(terminal, await createTerminalLink(db, env(), email))
      })
    })
}
