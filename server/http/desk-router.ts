import { inputs } from '../desk/inputs.ts'
import { deskProcedure, router } from './trpc.ts'

/** The procedures of the desk. All are called by POST, queries too: what is searched for must not be in an address. */
export const deskRouter = router({
  list: deskProcedure.input(inputs.list).query(({ ctx, input }) => ctx.desk.list(ctx.session, input)),
  show: deskProcedure.input(inputs.show).query(({ ctx, input }) => ctx.desk.show(ctx.session, input)),
  setStatus: deskProcedure.input(inputs.setStatus).mutation(({ ctx, input }) => ctx.desk.setStatus(ctx.session, input)),
  setSpam: deskProcedure.input(inputs.setSpam).mutation(({ ctx, input }) => ctx.desk.setSpam(ctx.session, input)),
  addNote: deskProcedure.input(inputs.addNote).mutation(({ ctx, input }) => ctx.desk.addNote(ctx.session, input)),
  removeNote: deskProcedure
    .input(inputs.removeNote)
    .mutation(({ ctx, input }) => ctx.desk.removeNote(ctx.session, input)),
  addCall: deskProcedure.input(inputs.addCall).mutation(({ ctx, input }) => ctx.desk.addCall(ctx.session, input)),
  sendAgain: deskProcedure.input(inputs.sendAgain).mutation(({ ctx, input }) => ctx.desk.sendAgain(ctx.session, input)),
})
