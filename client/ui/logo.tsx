import { brand } from '../../shared/brand.ts'

/** The name that wordmark.svg draws: any other is set in type, until it has a drawing of its own. */
const DRAWN_NAME: string = 'Quvera'
export const hasWordmark: boolean = brand.name === DRAWN_NAME

/** The outlines stand once in each page: in the bundle they would weigh more than all that moves. */
export function Logo({ name = brand.name }: { name?: string }) {
  if (name !== DRAWN_NAME) return <span className="logo logo-type">{name}</span>
  return (
    <svg className="logo" viewBox="0 0 941 272" role="img" aria-label={name}>
      <use href="#wordmark" />
    </svg>
  )
}
