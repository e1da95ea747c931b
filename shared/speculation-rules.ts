/** Tells browsers to fetch a page of ours as soon as somebody points at a link to it. The content security policy names its hash. */
export const speculationRules = JSON.stringify({
  prefetch: [{ where: { href_matches: '/*' }, eagerness: 'moderate' }],
})
