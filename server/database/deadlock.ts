import { sqlState } from '../errors.ts'

const DEADLOCK_DETECTED = '40P01'

/**
 * Does the work once more if PostgreSQL has ended it to dissolve a deadlock. What changes a mail locks its enquiry next, by the
 * trigger that keeps UntoldSince; what marks or erases an enquiry locks its mails next.
 */
export async function retryDeadlock<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (sqlState(error) !== DEADLOCK_DETECTED) throw error
    return work()
  }
}
