/**
 * Indian law restricts lists of conditions in what is said about a supplement: see "Before you go live" in docs/make-it-yours.md.
 * `false` shows the neutral line in place of every bullet.
 */
export const CONDITIONS_SHOWN: boolean = true

export const neutralLine = 'As advised by your physician.'
