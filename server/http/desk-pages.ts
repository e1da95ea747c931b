import type { FastifyReply } from 'fastify'
import { brand } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { escaped } from '../mail/mail-parts.ts'
import { htmlOf, type StaticPages } from './static-pages.ts'

/* The pages around the desk, which need no scripts, and the desk itself. The build writes both files, with their styles. */

const DESK_FILE = '/desk/desk'
const MESSAGE_FILE = '/desk/message'
/** Without built pages, as in tests and development. */
const UNBUILT = '<!doctype html><html lang="en"><meta charset="utf-8"><title><!--title--></title><body><!--body-->'

export const SIGN_IN_PATH = `${DESK_PATH}/sign-in`
export const ENTER_PATH = `${DESK_PATH}/enter`

export function createDeskPages(pages: StaticPages) {
  const fileOf = (path: string) => {
    const page = pages.get(path)
    return page ? htmlOf(page) : UNBUILT
  }
  const message = fileOf(MESSAGE_FILE)
  const desk = fileOf(DESK_FILE)
  const sendHtml = (reply: FastifyReply, html: string) => reply.type('text/html; charset=utf-8').send(html)

  function send(reply: FastifyReply, title: string, body: string) {
    const content = `<header class="desk-head"><p class="desk-name">${escaped(brand.name)} desk</p></header>
<main id="main" class="message"><h1>${escaped(title)}</h1>${body}</main>`
    const filled = message.replace('<!--title-->', () => `${escaped(title)} | ${escaped(brand.name)}`)
    return sendHtml(
      reply,
      filled.replace('<!--body-->', () => content),
    )
  }

  return {
    /** For a session only. */
    desk: (reply: FastifyReply) => sendHtml(reply, desk),
    signIn: (reply: FastifyReply, leadsTo: string) =>
      send(
        reply,
        'Sign in',
        `<p>We mail you a link. It works once, within 15 minutes.</p>
<form method="post" action="${SIGN_IN_PATH}"><input type="hidden" name="to" value="${escaped(leadsTo)}">
<p class="field"><label for="email">Your mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required></p>
<p><button class="primary">Send me a link</button></p></form>`,
      ),
    sent: (reply: FastifyReply, leadsTo: string) =>
      send(
        reply,
        'Look into your inbox',
        `<p>If this address is one of ours, a link is on its way. It works once, within 15 minutes.</p>
<p><a href="${SIGN_IN_PATH}?to=${escaped(leadsTo)}">Try again</a> if nothing comes. A link of the last ten minutes still works: no second one is sent.</p>`,
      ),
    enter: (reply: FastifyReply, token: string) =>
      send(
        reply,
        'Enter the desk',
        `<form method="post" action="${ENTER_PATH}"><input type="hidden" name="token" value="${escaped(token)}">
<p><button class="primary">Enter the desk</button></p></form><p>You stay signed in on this device for 14 days.</p>`,
      ),
    notEntered: (reply: FastifyReply) =>
      send(
        reply.code(403),
        'This link no longer works',
        `<p>It was used before, or it is older than 15 minutes. <a href="${SIGN_IN_PATH}">Get a new one</a>.</p>`,
      ),
    problem: (reply: FastifyReply, status: number, text: string) =>
      send(
        reply.code(status),
        status === 404 ? 'There is nothing here' : 'That did not work',
        `<p>${escaped(text)}</p><p><a href="${DESK_PATH}">To the desk</a></p>`,
      ),
  }
}
