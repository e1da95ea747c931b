import { QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { cssTransition, ToastContainer, toast } from 'react-toastify/unstyled'
import { messages, type Order } from '../../shared/order.ts'
import { notStored } from '../content/enquiry-form.ts'
import { marks, readOrder } from './read-order.ts'
import { failureMessage, sendOrder } from './send-order.ts'
import '../styles/toast.css'

export type Take = (data: FormData) => void

/** What can become of a form that was taken. */
export interface DeskProps {
  onOpen: (take: Take) => void
  onSending: () => void
  onReceived: (reference: string) => void
  /** `marks` says what is wrong with each field, `note` what is wrong with none of them. */
  onProblem: (problem: { marks: Record<string, string>; note?: string }) => void
}

const SUCCESS_TOAST_MS = 8000
const transition = cssTransition({ enter: 'toast-enter', exit: 'toast-exit', collapse: false })

/** Everything an order needs once somebody fills the form: rules, sending, toasts. Loaded at the first touch. */
export function OrderDesk(props: DeskProps) {
  const [client] = useState(() => new QueryClient())
  return (
    <QueryClientProvider client={client}>
      <Desk {...props} />
      <ToastContainer position="top-right" transition={transition} closeOnClick={false} hideProgressBar role="alert" />
    </QueryClientProvider>
  )
}

function Desk({ onOpen, onSending, onReceived, onProblem }: DeskProps) {
  const { mutate } = useMutation({
    // Offline is a failure to tell, not a reason to wait without a word.
    networkMode: 'always',
    mutationFn: (order: Order) => sendOrder(order),
    onMutate: onSending,
    onSuccess: ({ reference }) => {
      toast.success(messages.received, { autoClose: SUCCESS_TOAST_MS })
      onReceived(reference)
    },
    onError: (error) => {
      toast.error(failureMessage(error), { autoClose: false })
      onProblem({ marks: {}, note: notStored })
    },
  })

  useEffect(() => {
    onOpen((data) => {
      toast.dismiss()
      const { order, problem } = readOrder(data)
      if (order) return mutate(order)
      toast.error(problem.message, { autoClose: false })
      onProblem({ marks: marks(problem) })
    })
  }, [onOpen, onProblem, mutate])

  return null
}
