import { cssTransition, ToastContainer } from 'react-toastify/unstyled'

const transition = cssTransition({ enter: 'toast-enter', exit: 'toast-exit', collapse: false })

/** Where toasts are shown. Loaded with what shows them. */
export function Toasts() {
  return (
    <ToastContainer position="top-right" transition={transition} closeOnClick={false} hideProgressBar role="alert" />
  )
}
