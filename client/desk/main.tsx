import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { ToastContainer } from 'react-toastify/unstyled'
import { DESK_PATH } from '../../shared/desk.ts'
import { toastTransition } from '../ui/toast-transition.ts'
import { DeskPage } from './desk-page.tsx'
import { createQueryClient } from './queries.ts'
import { watchSession } from './session.ts'

// The server hands this page out for /staff and for /staff/REFERENCE.
const reference = location.pathname.slice(DESK_PATH.length + 1)

watchSession()
addEventListener('beforeunload', (event) => {
  if (document.activeElement?.matches('a[href^="tel:"], a[href^="mailto:"]')) return // they leave nothing
  if (document.querySelector<HTMLTextAreaElement>('#note')?.value.trim()) event.preventDefault()
})
createRoot(document.getElementById('root') as HTMLElement).render(
  <QueryClientProvider client={createQueryClient()}>
    <DeskPage reference={reference} />
    <ToastContainer
      position="bottom-right"
      autoClose={15_000}
      transition={toastTransition}
      closeOnClick={false}
      role="status"
    />
  </QueryClientProvider>,
)
