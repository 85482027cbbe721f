-- The same where no entries were read: nothing is known of sessions.
SELECT *, own_kind AS kind FROM placed_exchanges
