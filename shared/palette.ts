/** The colours that are needed where no stylesheet reaches: in mails and in what browsers draw themselves. A test compares them with `client/styles/tokens.css`. */
export const palette = {
  paper: '#fbf7f0',
  sand: '#f0e6d6',
  leaf: '#24483f',
  ink: '#1f1a17',
  inkMuted: '#5c534b',
  orange: '#d9601a',
  line: '#d8cbb8',
} as const
