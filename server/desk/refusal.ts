/** Why the desk does not do what it was asked for. The message is shown to staff. */
export class DeskRefusal extends Error {
  readonly reason: 'invalid' | 'missing' | 'conflict' | 'unavailable'
  constructor(reason: DeskRefusal['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
