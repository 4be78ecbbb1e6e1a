-- Fences a server whose lease has ended, unless PostgreSQL itself began only now. Returns whether it is fenced. A server
-- that was cut off while it sent a commit leaves a session that keeps its locks, and no timeout of PostgreSQL ends that
-- session, since it waits within a pipeline: so it is ended here.
CREATE OR REPLACE FUNCTION fence(server_id BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM servers WHERE id = server_id AND NOT is_fenced
        AND greatest(lease_ends, pg_postmaster_start_time() + lease) < clock_timestamp()
    ) THEN
        PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'reseller-sim server ' || server_id AND usename = current_user;
        UPDATE servers SET is_fenced = TRUE WHERE id = server_id AND NOT is_fenced
            AND greatest(lease_ends, pg_postmaster_start_time() + lease) < clock_timestamp();
    END IF;
    RETURN NOT EXISTS (SELECT FROM servers WHERE id = server_id AND NOT is_fenced);
END $$;
