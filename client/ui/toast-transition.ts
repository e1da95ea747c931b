import { cssTransition } from 'react-toastify/unstyled'

/** Its classes are in toast.css and desk.css. */
export const toastTransition = cssTransition({ enter: 'toast-enter', exit: 'toast-exit', collapse: false })
