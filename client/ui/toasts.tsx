import { useEffect } from 'react'
import { ToastContainer } from 'react-toastify/unstyled'
import { toastTransition } from './toast-transition.ts'

/** Where toasts are shown: in the flow, so that they cover nothing. */
export function Toasts() {
  // An error is an alert of its own, and would be read twice. The library has no property for it.
  useEffect(() => document.querySelector('.Toastify')?.setAttribute('aria-live', 'off'), [])
  return (
    <ToastContainer
      aria-label="Messages"
      autoClose={false}
      closeOnClick={false}
      hotKeys={() => false}
      role="alert"
      transition={toastTransition}
    />
  )
}
