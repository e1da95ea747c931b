import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { brand } from '../../shared/brand.ts'
import { DESK_PATH } from '../../shared/desk.ts'
import { escaped } from '../html.ts'
import { htmlOf, type StaticPages } from '../http/static-pages.ts'
import type { Desk } from './desk.ts'

/* The pages around the desk, which need no scripts, and the desk itself. The build writes both files, with their styles. */

const DESK_FILE = '/desk/desk'
const MESSAGE_FILE = '/desk/message'
/** Without built pages, as in tests and development. */
const UNBUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title><!--title--></title><body><!--start--><!--body-->'

export const SIGN_IN_PATH = `${DESK_PATH}/sign-in`
export const ENTER_PATH = `${DESK_PATH}/enter`
export const PASTED_PATH = `${ENTER_PATH}/pasted`

/** Of the page of the desk: of its scripts and styles, too, as their names change with them. */
export function versionOf(pages: StaticPages): string {
  const page = pages.get(DESK_FILE)
  return page ? hash('sha256', htmlOf(page)).slice(0, 16) : ''
}

/** What the page of the desk comes with. */
export interface Start {
  pulse: Awaited<ReturnType<Desk['pulse']>>
  replyTitles: string[]
  /** Their addresses. */
  staff: string[]
  list: Awaited<ReturnType<Desk['list']>> | undefined
}

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
    /** For a session only. @param start what the page need not ask for */
    desk(reply: FastifyReply, start: Start) {
      const json = JSON.stringify(start).replaceAll('<', '\\u003c')
      const island = `<script id="start" type="application/json">${json}</script>`
      return sendHtml(
        reply,
        desk.replace('<!--start-->', () => island),
      )
    },
    /**
     * @param address that this browser asked with a short time ago
     * @param isOver a page of the desk leads here, as its session has ended
     */
    signIn: (reply: FastifyReply, leadsTo: string, address: string, isOver: boolean) =>
      send(
        reply,
        'Sign in',
        `${isOver ? '<p role="status">Your session has ended. Notes that you were typing, and changes that wait, are kept in this browser for twelve hours.</p>' : ''}
<p>We mail you a link. It works once, within 15 minutes.</p>
<form method="post" action="${SIGN_IN_PATH}"><input type="hidden" name="to" value="${escaped(leadsTo)}">
<p class="field"><label for="email">Your mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required value="${escaped(address)}"></p>
<p><button class="primary">Send me a link</button></p></form>`,
      ),
    /** @param address that was typed; '' if the browser has not kept it */
    sent: (reply: FastifyReply, leadsTo: string, address: string) =>
      send(
        reply,
        'Look into your inbox',
        `<p>If this address is one of ours, a link is on its way. It works once, within 15 minutes.</p>
${address ? `<p>You typed <strong><bdi>${escaped(address)}</bdi></strong>. Open the link in this browser.</p>` : '<p>This browser has not kept what you typed: it refuses cookies, or that was more than 15 minutes ago. Without cookies nobody can stay signed in.</p>'}
<form method="post" action="${PASTED_PATH}">
<p class="field"><label for="link">Does the mail app open it elsewhere? Paste the link here</label>
<input id="link" name="link" autocomplete="off" autocapitalize="off" spellcheck="false" required></p>
<p><button>Use this link</button></p></form>
<p><a href="${SIGN_IN_PATH}?to=${escaped(leadsTo)}">Try again</a> if nothing comes, or if the address is wrong. A link of the last ten minutes still works: no second one is sent.</p>`,
      ),
    /** @param ends whose session in this browser ends by it */
    enter: (reply: FastifyReply, token: string, name: string, ends: string | undefined) =>
      send(
        reply,
        'Enter the desk',
        `<p>This link signs you in as <strong><bdi>${escaped(name)}</bdi></strong>.</p>
${ends ? `<p>In this browser <bdi>${escaped(ends)}</bdi> is signed in: that session ends.</p>` : ''}
<form method="post" action="${ENTER_PATH}"><input type="hidden" name="token" value="${escaped(token)}">
<p><button class="primary">Enter the desk</button></p></form>
<p>You stay signed in on this device until you have not used the desk for 14 days, and for 90 days at most.</p>`,
      ),
    notEntered: (reply: FastifyReply, leadsTo: string) =>
      send(
        reply.code(403),
        'This link no longer works',
        `<p>It was used before, or it is older than 15 minutes. <a href="${SIGN_IN_PATH}?to=${escaped(leadsTo)}">Get a new one</a>.</p>`,
      ),
    noCookies: (reply: FastifyReply) =>
      send(
        reply.code(403),
        'This browser refuses cookies',
        '<p>Without a cookie nobody can stay signed in. Allow cookies of this site and press the button again, or open the link in another browser: it was not used up.</p>',
      ),
    notPasted: (reply: FastifyReply) =>
      send(
        reply.code(400),
        'That is no link to this desk',
        `<p>Copy the whole link out of the mail. It holds “${ENTER_PATH}?token=”. <a href="${SIGN_IN_PATH}?sent">Paste it again</a>.</p>`,
      ),
    problem: (reply: FastifyReply, status: number, text: string) =>
      send(
        reply.code(status),
        status === 404 ? 'There is nothing here' : 'That did not work',
        `<p>${escaped(text)}</p><p><a href="${DESK_PATH}">To the desk</a></p>`,
      ),
  }
}
