interface ImportMetaEnv {
  /** False only in what is built for browsers, where nothing reads what is left out: see ui/still.tsx. */
  readonly IN_FULL: true
}
