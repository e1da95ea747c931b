import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { ToastContainer } from 'react-toastify/unstyled'
import { toastTransition } from '../ui/toast-transition.ts'
import { DeskPage } from './desk-page.tsx'
import { watchFocus } from './focus.ts'
import { client, takeStart } from './queries.ts'
import { watchCalls } from './ringing.ts'
import { watchRoute } from './route.ts'
import { watchSession } from './session.ts'

// The server hands this page out for /staff and for /staff/REFERENCE.
watchSession()
watchRoute()
watchCalls()
watchFocus()
takeStart()
createRoot(document.getElementById('root') as HTMLElement).render(
  <QueryClientProvider client={client}>
    <DeskPage />
    <ToastContainer position="bottom-right" transition={toastTransition} closeOnClick={false} role="status" />
  </QueryClientProvider>,
)
