import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { propertiesOf } from '../errors.ts'

/* Resend's SDK hides why a request failed, and the status of an answer that is not Resend's. Node's fetch publishes both. */

export interface Watched {
  /** The request reached a server. False: no connection was made, so nothing can have been sent. */
  wasSent: boolean
  /** The HTTP status of the answer, if there was one. */
  status: number | undefined
}

/** Watches the request whose headers contain `text` until `stop`. */
export function watchRequest(text: string) {
  const watched: Watched = { wasSent: false, status: undefined }
  const listen = (record: (event: Record<string, unknown>) => void): ChannelListener => {
    return (event) => {
      const { request, ...rest } = propertiesOf(event)
      if (String(propertiesOf(request).headers).includes(text)) record(rest)
    }
  }
  const listeners: Record<string, ChannelListener> = {
    'undici:client:sendHeaders': listen(() => {
      watched.wasSent = true
    }),
    'undici:request:headers': listen(({ response }) => {
      watched.status = Number(propertiesOf(response).statusCode)
    }),
  }
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener)
  return {
    stop(): Watched {
      for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener)
      return watched
    },
  }
}
