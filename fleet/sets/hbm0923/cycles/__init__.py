"""Cost models: cycles of every instruction with ideal and with timed memory."""
