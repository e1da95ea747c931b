/** Screens with the carousel, and with the open indication above the others. */
export const WIDE_SCREEN = '(scripting: enabled) and (min-width: 56.25em)'
