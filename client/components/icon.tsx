const paths: Record<string, string> = {
  /** A capsule. */
  dose: 'M11 29 29 11a7.8 7.8 0 0 0-11-11L0 18a7.8 7.8 0 0 0 11 11ZM9 9l11 11',
  /** A glass of water. */
  glass: 'M4 0h22l-3 30H7ZM5.2 11c4-2.4 6.4 2 9.8 0s5.6-2 9.7 0',
  /** A sun behind a roof. */
  shade: 'M0 30h30M3 30V19L15 9l12 10v11M15 0v3M4 4l2 2M26 4l-2 2M11 30v-8h8v8',
  /** A shelf, high up. */
  reach: 'M0 12h30M5 12v5M25 12v5M9 12V3h5v9M17 12V0h5v12M15 30v-8m-3.5 3.5L15 22l3.5 3.5',
}

export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" viewBox="-2 -2 34 34" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
