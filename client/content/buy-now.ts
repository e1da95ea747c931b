export const buyNow = {
  title: 'Buy Now',
  closing: 'Tell us how many you need, and our team calls or writes back.',
  lead: 'Buying for your shop or for yourself? Tell us what you need. You get a reference right away, and our team replies by phone or email.',
}
