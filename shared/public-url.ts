/** Stands for the public address in the built pages; the server puts the real one in its place when it starts. */
export const PUBLIC_URL_PLACEHOLDER = 'https://public-url.invalid'
