import { useEffect, useState } from 'react'

/** Ages go on by the minute. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const update = () => setNow(Date.now())
    update() // the list may have been hidden for long
    const timer = setInterval(update, 20_000)
    addEventListener('visibilitychange', update)
    return () => {
      clearInterval(timer)
      removeEventListener('visibilitychange', update)
    }
  }, [])
  return now
}
