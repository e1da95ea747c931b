/** The colours of pages, mails and what browsers draw themselves. In styles `inkMuted` is `--ink-muted`; those of pages alone are in `client/styles/tokens.css`. */
export const palette = {
  paper: '#fbf7f0',
  sand: '#f0e6d6',
  leaf: '#24483f',
  line: '#d8cbb8',
  inkMuted: '#5c534b',
  ink: '#1f1a17',
  /** 4.7:1 under ink. */
  orange: '#d9601a',
} as const
