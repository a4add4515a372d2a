-- What the agent asks of Neovim: the name of a function below, and what it is given.
local api, fn = vim.api, vim.fn
local answers = {}
local MAX_DIAGNOSTICS, MAX_SELECTED_CHARACTERS = 200, 20000

local function buffer_of(path)
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_get_name(buffer)
    if name ~= "" and vim.bo[buffer].buftype == "" and (vim.uv or vim.loop).fs_realpath(name) == path then
      return buffer
    end
  end
end

-- A window that shows a file, or could: not the terminal in which the agent runs.
local function window()
  for _, each in ipairs({ api.nvim_get_current_win(), unpack(api.nvim_tabpage_list_wins(0)) }) do
    if vim.bo[api.nvim_win_get_buf(each)].buftype == "" then return each end
  end
  vim.cmd("aboveleft split | enew")
  return api.nvim_get_current_win()
end

local function text_of(buffer)
  local lines = api.nvim_buf_get_lines(buffer, 0, -1, false)
  if #lines == 1 and lines[1] == "" then return "" end
  return table.concat(lines, "\n") .. (vim.bo[buffer].eol and "\n" or "")
end

function answers.open(path, line)
  local shown = window()
  api.nvim_win_call(shown, function() vim.cmd.edit(fn.fnameescape(path)) end)
  local last = api.nvim_buf_line_count(api.nvim_win_get_buf(shown))
  api.nvim_win_set_cursor(shown, { math.max(1, math.min(line, last)), 0 })
end

function answers.look()
  local shown = window()
  local buffer = api.nvim_win_get_buf(shown)
  local line = api.nvim_win_get_cursor(shown)[1]
  local told = { path = api.nvim_buf_get_name(buffer), line = line, end_line = line, text = "" }
  told.unsaved = vim.bo[buffer].modified
  local from, to = api.nvim_buf_get_mark(buffer, "<"), api.nvim_buf_get_mark(buffer, ">")
  if from[1] > 0 and to[1] <= api.nvim_buf_line_count(buffer) then
    local lines = api.nvim_buf_get_lines(buffer, from[1] - 1, to[1], false)
    lines[#lines] = lines[#lines]:sub(1, math.min(to[2] + 1, #lines[#lines]))
    lines[1] = lines[1]:sub(from[2] + 1)
    told.line, told.end_line = from[1], to[1]
    told.text = table.concat(lines, "\n"):sub(1, MAX_SELECTED_CHARACTERS)
  end
  return told
end

function answers.diagnostics(path)
  local buffer = path ~= "" and buffer_of(path) or nil
  if path ~= "" and not buffer then return {} end
  local told = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    if #told < MAX_DIAGNOSTICS then
      local place = { path = api.nvim_buf_get_name(one.bufnr), line = one.lnum + 1, severity = one.severity }
      table.insert(told, vim.tbl_extend("error", place, { message = one.message, source = one.source or "" }))
    end
  end
  return told
end

function answers.read(path)
  local buffer = buffer_of(path)
  return buffer and api.nvim_buf_is_loaded(buffer) and text_of(buffer) or nil
end

-- Only the lines that differ are replaced: marks and folds elsewhere stay, and one undo takes it back.
function answers.write(path, before, after)
  local buffer = buffer_of(path) or fn.bufadd(path)
  fn.bufload(buffer)
  vim.bo[buffer].buflisted = true
  if text_of(buffer) ~= before then error("the text is not what it was when it was read") end
  local was_unsaved = vim.bo[buffer].modified
  local old = api.nvim_buf_get_lines(buffer, 0, -1, false)
  local new = vim.split((after:gsub("\n$", "")), "\n", { plain = true })
  local first, last = 0, 0
  while first < #old and first < #new and old[first + 1] == new[first + 1] do first = first + 1 end
  while last < #old - first and last < #new - first and old[#old - last] == new[#new - last] do last = last + 1 end
  api.nvim_buf_set_lines(buffer, first, #old - last, false, vim.list_slice(new, first + 1, #new - last))
  vim.bo[buffer].eol, vim.bo[buffer].fixeol = after:sub(-1) == "\n", false
  if was_unsaved then return false end
  api.nvim_buf_call(buffer, function() vim.cmd("silent write") end)
  return true
end

function answers.run(command, folder)
  local before = api.nvim_get_current_win()
  vim.cmd("botright 12new")
  local buffer, words = api.nvim_get_current_buf(), { vim.o.shell, "-c", command }
  local options = { cwd = folder, on_exit = function(_, status) vim.b[buffer].tersely_status = status end }
  if fn.has("nvim-0.11") == 1 then
    fn.jobstart(words, vim.tbl_extend("error", options, { term = true }))
  else
    fn.termopen(words, options)
  end
  api.nvim_set_current_win(before)
  return buffer
end

-- The status and the output of a command that has ended; of one that runs on neither.
function answers.ended(buffer)
  if not api.nvim_buf_is_valid(buffer) then error("the user has closed the terminal") end
  local status = vim.b[buffer].tersely_status
  if not status then return {} end
  local text = table.concat(api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  return { status = status, output = (text:gsub("%s*%[Process exited %-?%d+%]%s*$", ""):gsub("%s+$", "")) }
end

local name = ...
return answers[name](select(2, ...))
