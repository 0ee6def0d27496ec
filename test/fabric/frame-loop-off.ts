// Imported before tests that are to run without the native frame loop (see peers.ts).
process.env['LABWIRE_TEST_FRAME_LOOP'] = 'off';
