-- The articles of a shop.
local money = require("shop.money")
local format, insert = string.format, table.insert

local M = { MOST = 1000 }

local Article = {}
Article.__index = Article

function Article.new(name, price, ...)
  assert(name ~= "" and price >= 0, "cannot be sold")
  return setmetatable({ name = name, price = price, tags = { ... } }, Article)
end

function Article:kind()
  if self.price < 10 then
    return "cheap"
  elseif self.price < 100 then
    return "usual"
  else
    return "dear"
  end
end

function Article.__lt(one, other)
  return one.price < other.price
end

local Store = {}
Store.__index = Store

--- An empty store of an owner.
function Store.new(owner)
  local self = setmetatable({}, Store)
  self.owner = owner or "nobody"
  self.articles = {}
  self.listeners = {}
  self.size = 0
  return self
end

function Store:listen(listener)
  insert(self.listeners, listener)
  return self
end

function Store:put(article)
  if self.size >= M.MOST then
    error("the store is full")
  end
  if not self.articles[article.name] then
    self.size = self.size + 1
  end
  self.articles[article.name] = article
  for _, listener in ipairs(self.listeners) do
    local ok, message = pcall(listener, article)
    if not ok then
      print(message)
    end
  end
  return self
end

function Store:get(name)
  local found = self.articles[name]
  if found == nil then
    return nil, format("no such article: %s", name)
  end
  return found
end

function Store:sorted()
  local found = {}
  for _, article in pairs(self.articles) do
    found[#found + 1] = article
  end
  table.sort(found, function(one, other) return one < other end)
  return found
end

function Store:total()
  local sum = 0
  for _, article in pairs(self.articles) do
    sum = sum + article.price
  end
  return money.amount(sum)
end

function Store:raise(by, wanted)
  wanted = wanted or function() return true end
  for i = 1, #self:sorted() do
    local article = self:sorted()[i]
    if not wanted(article) then
      goto continue
    end
    article.price = article.price * (1 + by)
    ::continue::
  end
end

local Cheap = setmetatable({}, { __index = Store })
Cheap.__index = Cheap

function Cheap.new(owner)
  local self = Store.new(owner)
  return setmetatable(self, Cheap)
end

function Cheap:put(article)
  while article:kind() ~= "cheap" do
    article.price = article.price / 2
  end
  return Store.put(self, article)
end

local function grouped(store)
  local found = {}
  for _, article in ipairs(store:sorted()) do
    local kind = article:kind()
    found[kind] = found[kind] or {}
    insert(found[kind], article.name)
  end
  return found
end

M.Article, M.Store, M.Cheap, M.grouped = Article, Store, Cheap, grouped

local handlers = {
  total = function(store) return store:total() end,
  ["size"] = function(store) return store.size end,
}

function M.answer(store, what)
  local handler = handlers[what]
  return handler and handler(store) or "unknown"
end

return M
